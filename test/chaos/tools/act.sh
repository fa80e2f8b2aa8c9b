#!/bin/sh
# A tool that writes down that it starts before it does anything else: one line, one write, at the end of the file. Usage: act.sh NAME STARTS_FILE.
# It is a shell script because it is started hundreds of times beside a broker on few cores.
at=$(date +%s%3N)
start="$$-$at"
printf '{"event":"start","call":%s,"tool":"%s","process":"%s","pid":%s,"start":"%s","at":%s}\n' \
  "$WEIR_IDEMPOTENCY_KEY" "$1" "$CHAOS_PROCESS" "$$" "$start" "$at" >>"$2"
arguments=$(cat)
sleep_ms=$(printf '%s' "$arguments" | sed -n 's/.*"sleepMs":\([0-9]*\).*/\1/p')
if [ "${sleep_ms:-0}" -gt 0 ]; then sleep "$(printf '%d.%03d' $((sleep_ms / 1000)) $((sleep_ms % 1000)))"; fi
printf '{"event":"end","start":"%s","at":%s}\n' "$start" "$(date +%s%3N)" >>"$2"
case $arguments in
  *'"fail":true'*) echo 'the far side is closed today' >&2; exit 3 ;;
esac
printf '{"start":"%s","of":"heron"}' "$start"
