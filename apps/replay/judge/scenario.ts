// The scenario format: a neutral trace of the steps of models and tools, with a label that tells
// whether an intervention is due. One JSON object a line. docs/ explains it.

export type ToolStep = {
  kind: 'tool'
  tool: string
  /** `{"_raw": text}`: an argument text that is not JSON. */
  args: Record<string, unknown>
  outcome: 'ok' | 'error'
  result: string
  /** Steps in a row with the same number are one response. */
  turn?: number
  /** A repeated id is a repeated delivery of the same call. */
  call_id?: string
  session?: string
  /** Milliseconds from any begin to its result. Absent: the trace has no times. */
  at?: number
  /** The argument text as sent, if its spelling matters. */
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
  /** Tools with their JSON Schemas. Other tools accept any object. */
  tools?: { name: string; schema: Record<string, unknown> | boolean }[]
  tool_hints?: Record<string, TraceHints>
  limits?: { max_tool_calls?: number; max_turns?: number }
  expect?: Expectation
  second_by_step?: number
  /**
   * Never in a file: the settings that judged each step of a conversation. An imported transcript
   * has none.
   */
  settingsOf?: ((step: Step) => OwnSettings) | undefined
  /** Never in a file: the short reason that a failed call of a conversation had live. */
  reasonOf?: ((step: Step) => string | undefined) | undefined
  /** Never in a file: a recorded session, whose times are unknown where its steps have none. */
  isImported?: boolean | undefined
}

/** The settings in force that were not the defaults, by the keys of `weir policy`. Null: no cap. */
export type OwnSettings = Readonly<Record<string, string | null>>

/** The declaration of a tool, as in its agent file. `ignore_args`: another name of ignoreFields. */
export type TraceHints = {
  poll?: boolean
  mutates?: boolean
  ignoreFields?: string[]
  ignore_args?: string[]
  loopKey?: string[]
}

/**
 * `fires` null or no expectation: no label. `by_step`: the latest step whose outcome must have led
 * to the first intervention.
 */
export type Expectation = {
  fires: boolean | null
  by_step?: number | null
  kind?: string
  reason?: string
}
