#!/bin/sh
# Tells what the machine is, as YAML on standard output; changes nothing. Needs no Python.
# EXAMINE_ROOT stands for / in tests.
root=${EXAMINE_ROOT:-}

yes_if() { if "$@" >/dev/null 2>&1; then echo '"yes"'; else echo '"no"'; fi; }
has() { command -v "$1"; }

# shellcheck disable=SC1091
if [ -r "$root/etc/os-release" ]; then . "$root/etc/os-release"; fi
echo "id: '${ID:-unknown}'"
echo "version: '${VERSION_ID:-unknown}'"
echo "arch: '$(uname -m)'"
echo "systemd: $(yes_if test -d "$root/run/systemd/system")"
echo "python3: $(yes_if has python3)"
echo "apt: $(yes_if has apt-get)"
echo "cloud_init: $(yes_if has cloud-init)"
echo "memory_mib: $(awk '/^MemTotal:/ {print int($2 / 1024)}' "$root/proc/meminfo")"
echo "disk_free_mib: $(df -Pm "$root/var/lib" | awk 'NR == 2 {print $4}')"
# The memory controller: listed with cgroup v2; the fourth column says enabled with v1.
if [ -r "$root/sys/fs/cgroup/cgroup.controllers" ]; then
  echo "cgroup_memory: $(yes_if grep -qw memory "$root/sys/fs/cgroup/cgroup.controllers")"
else
  echo "cgroup_memory: $(yes_if awk '$1 == "memory" && $4 == 1 {found = 1} END {exit !found}' "$root/proc/cgroups")"
fi
[ -n "$root" ] || modprobe --quiet overlay 2>/dev/null || true
echo "overlay: $(yes_if grep -qw overlay "$root/proc/filesystems")"
echo "default_route: $(yes_if awk '$2 == "00000000" && $8 == "00000000" {found = 1} END {exit !found}' "$root/proc/net/route")"
# Listening ports (state 0A), in hexadecimal as the kernel writes them: 192B is 6443, 280A is 10250.
listening=$(cat "$root/proc/net/tcp" "$root/proc/net/tcp6" 2>/dev/null | awk '$4 == "0A" {sub(/.*:/, "", $2); print $2}')
echo "api_port_taken: $(yes_if sh -c 'echo "$1" | grep -qx 192B' - "$listening")"
echo "kubelet_port_taken: $(yes_if sh -c 'echo "$1" | grep -qx 280A' - "$listening")"
# A k3s (server or agent) in any of the places that its install script uses.
there=no
for path in usr/local/bin/k3s etc/rancher/k3s/config.yaml var/lib/rancher/k3s/server var/lib/rancher/k3s/agent \
  etc/systemd/system/k3s.service etc/systemd/system/k3s-agent.service; do
  [ -e "$root/$path" ] && there=yes
done
echo "k3s_there: '$there'"
echo "brought: '$(cat "$root/etc/gpu-queue-lab/packages" 2>/dev/null | tr '\n' ' ')'"
echo "marked: $(yes_if test -e "$root/etc/gpu-queue-lab/machine")"
# A unit that does not name this lab was put there by another hand after ours had gone.
unit=$root/etc/systemd/system/k3s.service
if [ -e "$unit" ]; then echo "unit_is_ours: $(yes_if grep -q gpu-queue-lab "$unit")"; else echo 'unit_is_ours: "yes"'; fi
echo "dpkg_is_whole: $(yes_if sh -c 'test -z "$(dpkg --audit 2>/dev/null)"')"
# Last, since what is above takes a while on a slow machine, and the answer is compared with a clock elsewhere.
echo "epoch: $(date +%s)"
