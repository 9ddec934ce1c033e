#!/bin/sh
# Makes a machine of a folder of Debian packages; mmdebstrap runs it with that folder.
set -eu
root=$1
here=$(dirname "$0")
install -m 755 "$here/labinit" "$root/usr/local/sbin/labinit"
install -m 644 "$here/labinit.service" "$root/etc/systemd/system/labinit.service"
# Each machine gets keys of its own.
rm -f "$root"/etc/ssh/ssh_host_*
rm -f "$root/etc/machine-id" "$root/etc/resolv.conf"
touch "$root/etc/machine-id"
echo 'nameserver 127.0.0.1' >"$root/etc/resolv.conf"
chroot "$root" systemctl --quiet enable labinit ssh
chroot "$root" systemctl --quiet disable systemd-networkd.service systemd-networkd.socket
chroot "$root" systemctl --quiet mask systemd-networkd-wait-online.service \
  apt-daily.timer apt-daily-upgrade.timer e2scrub_all.timer fstrim.timer dpkg-db-backup.timer
# Two people who are not root: one who may become root, one who may not.
for person in maker guest; do
  chroot "$root" useradd --create-home --shell /bin/bash "$person"
done
echo 'maker ALL=(ALL) NOPASSWD: ALL' >"$root/etc/sudoers.d/maker"
chmod 440 "$root/etc/sudoers.d/maker"
