# the learner did NOT delete train-1; its command was short and ended
:
