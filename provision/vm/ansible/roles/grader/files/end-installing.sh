#!/bin/sh
# end-installing.sh VENV: ends what a run that was broken off left at work in the virtual environment VENV, and says
# "ended" for each. Programs of the lab that run from there are left alone.
for folder in /proc/[0-9]*; do
  words=$(tr '\0' ' ' <"$folder/cmdline") 2>/dev/null || continue
  case $words in
    "$1/bin/python"*" -m pip "* | "$1/bin/python"*" -m ensurepip "* | "$1/bin/python"*" -c "* | *"python3 -m venv $1 ")
      kill -KILL "${folder#/proc/}" 2>/dev/null && echo ended ;;
  esac
done
exit 0
