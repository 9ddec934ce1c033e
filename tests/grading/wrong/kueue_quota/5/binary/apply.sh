head -c 4096 /dev/urandom > waiting.txt
