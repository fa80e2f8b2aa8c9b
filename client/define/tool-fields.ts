// The parts of a tool that all kinds share.

import type { CallTypes } from './call-types.ts'
import type { ConvertibleSchema, JsonSchema } from './standard-schema.ts'

declare const contextOf: unique symbol
declare const callOf: unique symbol

/**
 * A tool for `defineAgent`. `Context`: the context that it takes from the question. `Call`: the types
 * of its calls in events.
 */
export type DefinedTool<Context = unknown, Call extends CallTypes = CallTypes> = {
  readonly name: Call['name']
  readonly [callOf]?: Call
  readonly [contextOf]?: (context: Context) => void
}

/** `private`: data that must not leak. `untrusted`: texts of others, which may hold instructions. */
export type FlowSource = 'private' | 'untrusted'

export type ToolFields<Name extends string = string> = {
  /** For the model. Unique in an agent: 1 to 64 of A-Z, a-z, 0-9, _ and -. */
  name: Name
  /** For the model. */
  description: string
  /** Whether a second call with the same idempotency key has no further effect. Default: false. */
  idempotent?: boolean
  /** Milliseconds of one call. Default: 30,000. */
  timeoutMs?: number
  /** Whether repeated requests until a change are normal. Default: false. */
  poll?: boolean
  /** Whether its success may change something. Default: guessed. */
  mutates?: boolean
  /** The data that its results bring into the conversation, for the guard `flow`. */
  reads?: FlowSource | readonly FlowSource[]
  /** `out`: its arguments may leave for other parties, for the guard `flow`. */
  sends?: 'out'
  /** Arguments that only comment. Calls that differ in nothing more are equal. */
  ignoreFields?: readonly string[]
  /** The only arguments that identify a call. Default: all. */
  loopKey?: readonly string[]
  /**
   * The tool must not run twice with equal values, for the guard `once`. `by`: the arguments whose
   * values count, by default those that identify a call. `for`: such as `24h`, by default 30 days.
   * `within`: the conversations that count together, by default one with those that its calls began.
   */
  once?: true | { by?: readonly string[]; for?: string; within?: 'conversation' | 'tenant' }
  /** The text for the model if a call is denied before it runs. Default: the usual text. */
  denial?: string
  /** Calls of it that this process runs at once. Default: the bound for all tools. */
  concurrency?: number
  /** Bytes of its result to keep. Default: 32 KiB. */
  outputBytesMax?: number
}

/** The schema of the arguments: of zod, arktype and others, or a JSON Schema. */
export type ParametersOf<Args, Sent = unknown> = {
  parameters: ConvertibleSchema<Args, Sent> | JsonSchema
}
