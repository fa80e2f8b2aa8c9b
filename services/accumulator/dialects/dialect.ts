// The contract of a dialect: one way in which models write calls as text (I2). Adding one is a file
// here and a line in dialects.ts.

import type { Repair } from './written-json.ts'

export type Dialect = {
  /** As records and people name it. */
  readonly name: string
  /**
   * What the whole of `text` says in this dialect; undefined: it is not written in it. `text` has
   * no blanks around it and is not empty. Linear in the text, whatever it is, and never throws. It
   * reads and does not judge: which tools are offered and what their schemas say is not its
   * business.
   */
  read(text: string): Reading | undefined
}

/**
 * `calls`: the whole text is these. `broken`: it is the frame of a call, and what stands in it
 * cannot be read; `names`: the tools that it names as far as could be seen, `why`: for the model, a
 * clause. `marked`: nothing but a call is ever written in this frame, so it is one whatever it
 * names. `isOpen`: the text does not end as the frame does, so it is only a call if it was cut.
 */
export type Reading =
  | { kind: 'calls'; calls: WrittenCall[]; repairs: Set<Repair>; marked: boolean }
  | { kind: 'broken'; names: string[]; why: string; marked: boolean; isOpen?: boolean }

/**
 * `names`: every name that could be meant; the first one is the call's. `id`: empty where none is
 * written. `left`: what stands among the arguments under a name that never becomes one.
 */
export type WrittenCall = {
  names: [string, ...string[]]
  id: string
  arguments: WrittenArguments
  left?: string[]
}

/** `json`: strict JSON text. `fields`: texts without a type, which only the schema can tell. */
export type WrittenArguments =
  | { kind: 'json'; json: string }
  | { kind: 'fields'; fields: WrittenField[] }

/** `is`: what the frame itself says of the text's type; undefined: nothing. */
export type WrittenField = { name: string; text: string; is: 'string' | 'json' | undefined }
