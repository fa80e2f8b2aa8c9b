#!/bin/sh
# create-users.sh FOLDER [PRINCIPAL...]: a client.properties with a random password for each principal
# of docker-compose.users.yml, and for more of them, such as guard.shell. Keeps existing files.
set -eu
folder=${1:?the folder for the files}
shift
umask 077
mkdir -p "$folder"
for principal in operator approver edge front serve intake conversation guest llm-gateway accumulator validator \
  loop-detector executor approval "$@"; do
  file=$folder/$principal.properties
  [ ! -e "$file" ] || continue
  password=$(od -An -N 24 -tx1 /dev/urandom | tr -d ' \n')
  cat >"$file" <<END
security.protocol=SASL_PLAINTEXT
sasl.mechanism=SCRAM-SHA-512
sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required username="weir-$principal" password="$password";
END
done
