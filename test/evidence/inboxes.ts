// The topic that each stage reads. This list uses no code of Weir: it must not share a mistake in
// the topology. inboxes.unit.test.ts reports a stage that it lacks.

/** By stage, which is also the name of its consumer group. Both carry the prefix. */
export const inboxes: Record<string, string> = {
  intake: 'client-messages',
  conversation: 'conversation-events',
  guest: 'guest-events',
  'llm-gateway': 'model-requests',
  accumulator: 'model-deltas',
  validator: 'rounds-proposed',
  'loop-detector': 'rounds-checked',
  executor: 'rounds-cleared',
  approval: 'approvals',
}

export const stageNames = Object.keys(inboxes)
