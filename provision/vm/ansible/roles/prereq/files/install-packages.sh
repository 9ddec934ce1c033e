#!/bin/sh
# install-packages.sh NAME...: fetches and installs Debian packages. By apt-get itself, since Ansible's module needs
# python3-apt, which a small Debian does not have.
export DEBIAN_FRONTEND=noninteractive NEEDRESTART_MODE=a
apt-get update --option DPkg::Lock::Timeout=120
# What an earlier run could not finish is in the way of everything else.
[ -z "$(dpkg --audit 2>/dev/null)" ] ||
  apt-get install --fix-broken --yes --no-install-recommends --no-remove --option DPkg::Lock::Timeout=120
apt-get install --yes --no-install-recommends --no-remove --option DPkg::Lock::Timeout=120 "$@"
