head -c 2000000 /dev/zero | tr '\0' 'x' > waiting.txt
echo WaitingForQuota >> waiting.txt
