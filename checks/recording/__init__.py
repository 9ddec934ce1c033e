"""The recorder: a program beside the cluster that writes down what changes in a lab, and when."""
