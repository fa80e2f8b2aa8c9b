// The topic that each stage reads. No code of Weir: a mistake in its topology must not hide here.
// inboxes.unit.test.ts reports a stage that this list lacks.

/** By stage; also the name of its consumer group, with the prefix before both. */
export const inboxes: Record<string, string> = {
  conversation: 'conversation-events',
  'llm-gateway': 'model-requests',
  accumulator: 'model-deltas',
  validator: 'rounds-proposed',
  'loop-detector': 'rounds-checked',
  executor: 'rounds-cleared',
  approval: 'approvals',
}

export const stageNames = Object.keys(inboxes)
