// Findings of arguments that two readers would read differently. The tool must read the same
// arguments that the validator, the guards and a person judged.

import { type MembersFault, membersFaultWords } from '../../shared/contract/arguments/members.ts'
import { quoted, shownName } from '../../shared/contract/arguments/name-text.ts'
import * as texts from '../../shared/model-texts/arguments.ts'
import type { Finding } from './directive.ts'
import type { InexactNumber } from './inexact-number.ts'
import type { NameVariant } from './name-variant.ts'

export function memberFinding(fault: Exclude<MembersFault, { kind: 'too-deep' }>): Finding {
  return {
    code: 'bad_arguments',
    reason: membersFaultWords(fault),
    unknown: fault.kind === 'alike' ? [fault.other, fault.name] : [fault.name],
    notes: [texts.ambiguousMember[fault.kind]],
  }
}

/** The directive names the declared field, because the model most likely means it. */
export function variantFinding({ name, declared }: NameVariant): Finding {
  return {
    code: 'schema',
    reason: `unknown field ${quoted(name)}: it differs from the field ${quoted(declared)} only in its letters' case or form`,
    unknown: [declared],
    notes: [texts.exactName(quoted(declared))],
  }
}

/** The value is in the detail: loop keys consist of reasons. */
export function inexactFinding({ field, sent, mayBeString }: InexactNumber): Finding {
  const subject = field === '' ? 'a number' : `the number in field ${quoted(field)}`
  return {
    code: 'bad_arguments',
    reason: `${subject} cannot be read exactly`,
    detail: `some readers take ${shownName(sent)} for ${Number(sent)}`,
    unknown: field === '' ? 'arguments' : [field],
    notes: [mayBeString ? texts.numberAsString : texts.fewerDigits],
  }
}
