// The scenario format: a neutral trace of the steps of models and tools, with a label that tells
// whether an intervention is due. One JSON object a line. docs/ explains it.

export type ToolStep = {
  kind: 'tool'
  tool: string
  /** `{"_raw": text}`: an argument text that is no JSON. */
  args: Record<string, unknown>
  outcome: 'ok' | 'error'
  result: string
  /** Steps in a row with the same number are one response. */
  turn?: number
  /** The same id again is the same call delivered again. */
  call_id?: string
  session?: string
  /** The argument text as sent, where its spelling matters. */
  raw_args?: string
}
export type SilentStep = {
  kind: 'text' | 'thinking_only' | 'empty'
  text?: string
  finish?: string
  session?: string
}
export type OtherStep = { kind: 'user' | 'compaction' | 'stream_retry'; session?: string }
export type Step = ToolStep | SilentStep | OtherStep

export type Scenario = {
  id: string
  steps: Step[]
  /** Tools with their JSON Schemas. The others take any object. */
  tools?: { name: string; schema: Record<string, unknown> | boolean }[]
  tool_hints?: Record<string, TraceHints>
  limits?: { max_tool_calls?: number; max_turns?: number }
  expect?: Expectation
  second_by_step?: number
  /**
   * Of a conversation, never in a file: by what each step was judged. An imported transcript has
   * none.
   */
  settingsOf?: ((step: Step) => OwnSettings) | undefined
  /** Of a conversation, never in a file: the short reason that a failed call had live. */
  reasonOf?: ((step: Step) => string | undefined) | undefined
  /** Of a conversation, never in a file: no run of Weir wrote it. */
  isImported?: boolean | undefined
}

/**
 * What of the policy in force was not as by default, by key as `weir policy` has them; null: not
 * capped.
 */
export type OwnSettings = Readonly<Record<string, string | null>>

/**
 * What is known of a tool, as its agent file says it; `ignore_args`: another name of ignoreFields.
 */
export type TraceHints = {
  poll?: boolean
  mutates?: boolean
  ignoreFields?: string[]
  ignore_args?: string[]
  loopKey?: string[]
}

/**
 * `fires` null, like no expectation at all: no label. `by_step`: the latest step whose outcome must
 * have led to the first intervention.
 */
export type Expectation = {
  fires: boolean | null
  by_step?: number | null
  kind?: string
  reason?: string
}
