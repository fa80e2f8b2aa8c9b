// Redirections: the output and the input of a command.

import type { Redirection } from 'unbash'
import { isFromNet, isPlain } from './field.ts'
import { checkSecret, checkWrite, type Input, type Place, rememberFetched } from './place.ts'
import { Refusal } from './refusal.ts'
import { bodyOf, fieldsOf, textOf } from './words.ts'

/** Checks the targets of a command's output. Returns its input, if a redirection sets one. */
export function redirected(
  redirects: readonly Redirection[],
  fromNet: boolean,
  place: Place,
  forTheRest = false,
): Input | undefined {
  let input: Input | undefined
  for (const redirect of redirects) {
    if (redirect.type === 'HereDoc' || redirect.type === 'HereString') {
      input = {
        kind: 'text',
        text:
          redirect.type === 'HereDoc'
            ? bodyOf(redirect, place)
            : redirect.target === undefined
              ? ''
              : textOf(redirect.target, place),
      }
      continue
    }
    if (redirect.target === undefined)
      throw new Refusal('unreadable', 'a redirection names no file', 'Name the file.')
    const fields = fieldsOf([redirect.target], place)
    const [target] = fields
    if (target === undefined || fields.length !== 1)
      throw new Refusal(
        'unknowable',
        'the file of a redirection is only known when the command runs',
        'Write its name out, in quotes.',
      )
    checkSecret(target, place)
    const isDescriptor = /^(\d+-?|-)$/.test(target)
    const isInput =
      redirect.descriptor === undefined ||
      (redirect.descriptor.type === 'FileDescriptor' && redirect.descriptor.value === 0)
    switch (redirect.operator) {
      case '<':
        if (isInput)
          input =
            isFromNet(target) || /^\/dev\/(tcp|udp)\//.test(target)
              ? { kind: 'net' }
              : isPlain(target)
                ? { kind: 'file', path: target }
                : { kind: 'pipe' }
        break
      case '<&':
        if (isInput && target !== '-') input = { kind: 'pipe' }
        break
      case '>&':
        if (!isDescriptor) checkWrite(target, 'a redirection', place)
        break
      default:
        checkWrite(target, 'a redirection', place)
    }
    if (fromNet && redirect.operator !== '<' && redirect.operator !== '<&' && !isDescriptor)
      rememberFetched(target, place)
  }
  if (forTheRest && input !== undefined)
    throw new Refusal(
      'unknowable',
      'exec changes where all later commands read from',
      'Redirect the input of the command that reads it.',
    )
  return input
}
