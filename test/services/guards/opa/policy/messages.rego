package agent.call

import rego.v1

default decision := {"decision": "allow"}

decision := {"decision": "deny"} if count(input.messages) > 3

explanation := "another entrypoint"
