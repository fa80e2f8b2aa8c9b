// The types of a tool's calls, as the events of a turn have them.

import type { ResultValue } from '../../shared/view/messages/call-result.ts'

/** `arguments`: as the model sends them. `result`: of a call that ended with `ok`. */
export type CallTypes = { name: string; arguments: unknown; result: unknown }

/** `Sent`: the arguments in front of the schema's own check. `Returned`: the value of `run`. */
export type CallOf<Name extends string, Sent, Returned> = {
  name: Name
  arguments: unknown extends Sent ? Record<string, unknown> : Sent
  result: ResultOf<Awaited<Returned>>
}

/** A tool of an MCP server. */
export type McpCallOf<Server extends string> = Server extends string
  ? { name: `${Server}__${string}`; arguments: Record<string, unknown>; result: ResultValue }
  : never

/** The JSON of an object, or a text: a long result is cut. A text may be JSON itself. */
type ResultOf<Value> = unknown extends Value
  ? ResultValue
  : Value extends string
    ? ResultValue
    : Value extends object
      ? JsonOf<Value> | string
      : string

type JsonOf<Value> = Value extends { toJSON(): infer Sent }
  ? JsonOf<Sent>
  : Value extends object
    ? { [Key in keyof Value]: JsonOf<Value[Key]> }
    : Value
