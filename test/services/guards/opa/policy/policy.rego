package agent.call

import rego.v1

default decision := {"decision": "not-applicable"}

decision := {"decision": "deny", "reason": "pushes require human review"} if {
	input.tool.name == "git"
	input.args.args[0] == "push"
}

decision := {"decision": "allow"} if {
	input.tool.name == "git"
	input.args.args[0] in {"status", "log", "diff", "show"}
}

decision := {"decision": "requires-approval", "reason": sprintf("%s by %s", [input.tool.name, input.runtimeContext.role])} if {
	input.tool.name == "kubectl"
	input.runtimeContext.role in data.oncall
}

decision := {"decision": "maybe"} if input.tool.name == "unrecognized"

decision := {"allow": false, "reason": "the old form"} if input.tool.name == "legacy"

# Two values for one rule: an error of the evaluation.
decision := {"decision": "allow", "reason": reason} if {
	input.tool.name == "conflict"
	some reason in {"one", "two"}
}

decision := {"decision": "deny", "reason": "not in production"} if {
	input.tool.name == "act"
	input.args.env == "prod"
}
