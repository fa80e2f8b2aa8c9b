// The contract of a dialect: one way in which models write calls as text (I2). marks.ts has the
// table of all dialects.

import type { Repair } from './readers/written-json.ts'

/**
 * `name`: for records and people. `forms`: the first that a text begins like reads the text, and no
 * other.
 */
export type Dialect = readonly [name: string, forms: readonly Grammar[]]

/**
 * Undefined: `text` does not begin like this form. Otherwise the function reads the whole of `text`,
 * which is not empty and has no blanks around it. Its undefined: the text is not in this dialect.
 * Linear in any text, and never throws. No grammar judges the calls: offered tools and schemas are
 * not its concern. `fence`: the language of the code fence around the text, undefined without a
 * fence.
 */
export type Grammar = (text: string, fence?: string) => (() => Reading | undefined) | undefined

/**
 * `calls`: the whole text is these calls. `preamble`: words for the user that the frame itself
 * separates from them.
 * `broken`: the text is a call's frame with unreadable contents. `names`: the tools that it visibly
 * names. `why`: a clause for the model. `marked`: only calls use this frame, so it is a call under
 * any name. `isOpen`: the end of the frame is missing, so it is a call only if the text was cut.
 */
export type Reading =
  | {
      kind: 'calls'
      calls: WrittenCall[]
      repairs: Set<Repair>
      marked: boolean
      preamble?: string
    }
  | { kind: 'broken'; names: string[]; why: string; marked: boolean; isOpen?: boolean }

/**
 * `names`: all possible names, and the first one is the call's. `id`: empty if the text has none.
 * `left`: members next to the arguments that never become arguments.
 */
export type WrittenCall = {
  names: [string, ...string[]]
  id: string
  arguments: WrittenArguments
  left?: string[]
}

/**
 * `none`: no arguments, in any spelling but `{}`. `isOnlyNamed`: not even their key is there, so it
 * is a call only in a frame for calls. `json`: strict JSON text of an object. `fields`: texts
 * without a type, which only the schema can decide.
 */
export type WrittenArguments =
  | { kind: 'none'; isOnlyNamed: boolean }
  | { kind: 'json'; json: string }
  | { kind: 'fields'; fields: WrittenField[] }

/**
 * `is`: the type of the text as the frame states it. Undefined: not stated. `element`: a list or an
 * object is written as tags, `parts`, and an empty one as no text.
 */
export type WrittenField = {
  name: string
  text: string
  is: 'string' | 'json' | 'element' | undefined
  parts?: WrittenField[]
}
