// The names of spans and attributes: OpenTelemetry's semantic conventions for generative AI, version
// 0.1.0, and Weir's own where they have none.

/** The conventions that the names are from, sent with the spans. */
export const schemaUrl = 'https://opentelemetry.io/schemas/gen-ai/0.1.0'

/** The operations of spans, which begin their names too. */
export const operations = {
  turn: 'invoke_agent',
  attempt: 'chat',
  call: 'execute_tool',
  guard: 'weir.guard',
  approval: 'weir.approval',
} as const

export const names = {
  agent: 'gen_ai.agent.name',
  approvalBy: 'weir.approval.by',
  approvalOutcome: 'weir.approval.outcome',
  arguments: 'gen_ai.tool.call.arguments',
  cacheReadTokens: 'gen_ai.usage.cache_read.input_tokens',
  cacheWriteTokens: 'gen_ai.usage.cache_creation.input_tokens',
  call: 'gen_ai.tool.call.id',
  calls: 'weir.calls',
  cap: 'weir.cap',
  conversation: 'gen_ai.conversation.id',
  detail: 'weir.detail',
  errorType: 'error.type',
  finishReasons: 'gen_ai.response.finish_reasons',
  guard: 'weir.guard.name',
  guardAnswer: 'weir.guard.answer',
  guardDenied: 'weir.guard.denied_calls',
  guardVersion: 'weir.guard.version',
  inputTokens: 'gen_ai.usage.input_tokens',
  intervention: 'weir.intervention',
  isShadow: 'weir.shadow',
  model: 'gen_ai.request.model',
  operation: 'gen_ai.operation.name',
  outcome: 'weir.outcome',
  outputMessages: 'gen_ai.output.messages',
  outputTokens: 'gen_ai.usage.output_tokens',
  provider: 'gen_ai.provider.name',
  result: 'gen_ai.tool.call.result',
  round: 'weir.round',
  rounds: 'weir.rounds',
  /** The name that Langfuse and others group by. */
  session: 'session.id',
  tool: 'gen_ai.tool.name',
  turn: 'weir.turn',
} as const

/** The reasons to finish in the conventions' own words, from OpenAI. Others keep Weir's. */
export const finishReasons: Readonly<Record<string, string>> = {
  end: 'stop',
  calls: 'tool_calls',
  refusal: 'content_filter',
}

/** Events on the span of a turn. A denied call has no span, or it would count as a failed tool. */
export const eventNames = {
  denied: 'weir.call_denied',
  intervention: 'weir.intervention',
} as const

/**
 * The metrics of the conventions, under the names of version 0.1.0. They are in development there,
 * so an operator may give other names (`--metric-names`).
 */
export const metricNames = {
  attemptDuration: 'gen_ai.client.inference.duration',
  inputTokens: 'gen_ai.client.inference.usage.input_tokens',
  outputTokens: 'gen_ai.client.inference.usage.output_tokens',
  cacheReadTokens: 'gen_ai.client.inference.usage.cache_read.input_tokens',
  cacheWriteTokens: 'gen_ai.client.inference.usage.cache_write.input_tokens',
  callDuration: 'gen_ai.execute_tool.duration',
  turnDuration: 'gen_ai.invoke_agent.duration',
  turnAttempts: 'gen_ai.invoke_agent.inference_calls',
  turnCalls: 'gen_ai.invoke_agent.tool_calls',
} as const

export type MetricKey = keyof typeof metricNames

/** Undefined: the metric is not sent. */
export type MetricNames = Readonly<Record<MetricKey, string | undefined>>
