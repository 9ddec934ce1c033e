"""The case kit: what learners hand in, right, wrong or on a broken place, played on a real one."""
