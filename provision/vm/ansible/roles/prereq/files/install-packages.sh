#!/bin/sh
# install-packages.sh NAME...: fetches and installs Debian packages. By apt-get itself, since Ansible's module needs
# python3-apt, which a small Debian does not have.
export DEBIAN_FRONTEND=noninteractive NEEDRESTART_MODE=a
apt-get update --option DPkg::Lock::Timeout=120
apt-get install --yes --no-install-recommends --no-remove --option DPkg::Lock::Timeout=120 "$@"
