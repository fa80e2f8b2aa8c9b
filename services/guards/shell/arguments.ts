// The arguments of a wrapper, a shell or an interpreter, as options and operands. Other programs have
// a row in programs/rows.ts.

import { unclear } from './denial.ts'
import { anything } from './field.ts'

/** `flag`: options without a value, or with an attached one. The value of `valued` follows it. */
export type Shape = {
  flag: RegExp
  valued: RegExp
  /** Options of `valued` behind which no other option follows. */
  ends?: RegExp
  /** Options may follow operands. */
  permutes?: true
}

export type Parsed = { options: [name: string, value: string][]; rest: string[] }

/** Reads options and operands. Refuses an option that the shape does not name. */
export function optionsOf(base: string, args: readonly string[], shape: Shape): Parsed {
  const parsed: Parsed = { options: [], rest: [] }
  for (let at = 0; at < args.length; at++) {
    const [arg = '', value = ''] = args.slice(at, at + 2)
    const isOperand = !/^[-+\uE000]./s.test(arg)
    const isEnd = arg === '--' || (isOperand && !shape.permutes)
    if (isEnd)
      return { ...parsed, rest: [...parsed.rest, ...args.slice(arg === '--' ? at + 1 : at)] }
    if (isOperand) parsed.rest.push(arg)
    else if (shape.valued.test(arg)) {
      if (value[0] === anything) throw unclear(base, value)
      parsed.options.push([arg, value])
      if (shape.ends?.test(arg)) return { ...parsed, rest: args.slice(at + 2) }
      at++
    } else if (shape.flag.test(arg)) parsed.options.push([arg, ''])
    else throw unclear(base, arg)
  }
  return parsed
}
