// Hosts of the table "works with" without cases. Each one has the reason.

export type UnrunHost = { title: string; reason: string }

export const unrunHosts: readonly UnrunHost[] = [
  {
    title: 'OpenClaw',
    reason: 'none yet: its event `before_tool_call` denies a call without an answer in 15 seconds',
  },
]
