#!/bin/bash
# Runs inside the broker's image: makes the users of /users/*.properties, and grants the rights of
# /acls/lines. Each of Kafka's tools starts a JVM: some run at once, and a restarted container with the
# same users and rights runs none. Harmless when repeated.
set -euo pipefail
export PATH=$PATH:/opt/kafka/bin

granted=/tmp/granted
wanted=$(cat /users/*.properties /acls/lines | sha256sum)
if [ "$(cat $granted 2>/dev/null)" = "$wanted" ]; then exit; fi

add_user() {
  local user password
  user=$(sed -n 's/.*username="\([^"]*\)".*/\1/p' "$1")
  password=$(sed -n 's/.*password="\([^"]*\)".*/\1/p' "$1")
  # From a file: arguments are visible to all processes.
  kafka-configs.sh --bootstrap-server localhost:9094 --alter --entity-type users --entity-name "$user" \
    --add-config-file <(echo "SCRAM-SHA-512=password=$password") >/dev/null
}
export -f add_user

printf '%s\0' /users/*.properties | xargs -0 -n 1 -P 4 bash -c 'set -e; add_user "$1"' bash
tr '\n' '\0' </acls/lines | xargs -0 -n 1 -P 4 bash -c 'set -e; eval "$1" >/dev/null' bash
echo "$wanted" >$granted
echo 'All users have their rights.'
