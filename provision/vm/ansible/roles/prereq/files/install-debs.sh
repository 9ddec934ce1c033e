#!/bin/sh
# install-debs.sh FOLDER: installs what the machine lacks of the packages in FOLDER/debs.tar, without a network, and
# removes FOLDER. Of packages that the machine has in an older version, the files are taken only where the missing ones
# cannot be installed without them.
set -u
export DEBIAN_FRONTEND=noninteractive NEEDRESTART_MODE=a
tar --extract --file "$1/debs.tar" --directory "$1" --no-same-owner || exit
missing=
newer=
for file in "$1"/*.deb; do
  name=$(dpkg-deb --field "$file" Package)
  version=$(dpkg-deb --field "$file" Version)
  there=$(dpkg-query --show --showformat '${db:Status-Status} ${Version}' "$name" 2>/dev/null)
  case $there in
    "installed "*) dpkg --compare-versions "${there#installed }" lt "$version" && newer="$newer $file" ;;
    *) missing="$missing $file" ;;
  esac
done
install() {
  apt-get install --yes --no-install-recommends --no-remove --option DPkg::Lock::Timeout=120 "$@"
}
# Names of package files hold no spaces.
# shellcheck disable=SC2086
put() {
  # What was cut short, or found no room, apt-get does not touch before it is whole; dpkg makes it so.
  if [ -n "$(dpkg --audit 2>/dev/null)" ]; then dpkg --install $missing && return; fi
  install --simulate $missing >/dev/null 2>&1 || missing="$missing $newer"
  install $missing
}
put
result=$?
rm -rf "$1"
exit "$result"
