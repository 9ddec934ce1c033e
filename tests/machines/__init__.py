"""A Debian machine with systemd, SSH and no network, for tests of the vm target.

It is a container of systemd-nspawn in which a real kubelet runs real containers. k3s itself is
replaced by the stand-in of `standin/`. README.md beside this file says what that needs and proves.
"""
