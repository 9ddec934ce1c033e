#!/bin/sh
# Ends what outlives k3s (containers and their shims), and takes its mounts, interfaces and rules off.
# Says "ended ..." for what it did. To be run when k3s itself has stopped.

descendants() {
  for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do
    echo "$child"
    descendants "$child"
  done
}

# Shims serve k3s's own containerd only when they name its socket.
for proc in /proc/[0-9]*; do
  line=$(tr '\0' ' ' <"$proc/cmdline" 2>/dev/null) || continue
  case $line in
    *containerd-shim*"/run/k3s/containerd"*)
      pid=${proc#/proc/}
      # shellcheck disable=SC2046
      kill -KILL $(descendants "$pid") "$pid" 2>/dev/null
      echo "ended shim $pid"
      ;;
  esac
done

# Longest paths first, so that what is mounted within goes before what it is mounted in.
awk '$2 ~ "^/(run/k3s|var/lib/kubelet/(pods|plugins)|run/netns/cni-)" {print $2}' /proc/self/mounts | sort -r |
  while read -r mount; do umount -l "$mount" && echo "ended mount $mount"; done
find /run/netns -maxdepth 1 -name 'cni-*' -delete 2>/dev/null

if command -v ip >/dev/null; then
  for link in cni0 flannel.1 flannel-v6.1 flannel-wg; do
    ip link delete "$link" 2>/dev/null && echo "ended link $link"
  done
fi
if command -v nft >/dev/null; then
  for family in ip ip6; do nft delete table "$family" kube-proxy 2>/dev/null; done
fi
PATH=$PATH:/var/lib/rancher/k3s/data/current/bin/aux
for tables in iptables ip6tables; do
  command -v "$tables-save" >/dev/null || continue
  "$tables-save" 2>/dev/null | grep -q -e KUBE- -e CNI- || continue
  "$tables-save" | grep -v -i -e KUBE- -e CNI- -e flannel | "$tables-restore"
  echo "ended rules of $tables"
done

# Empty by now; a kubelet's cgroups stay behind when it ends.
find /sys/fs/cgroup -depth -type d -path '*/kubepods*' -exec rmdir {} \; 2>/dev/null

# The folder itself may be a mount of the machine's owner.
find /var/lib/kubelet -mindepth 1 -delete 2>/dev/null
exit 0
