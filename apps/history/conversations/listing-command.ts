// The command that lists conversations, for errors about an unknown one.

import { shellWord } from '../../terminal/own-command.ts'

/** The command for readers of `bundle`. Undefined: of a log. */
export function listingCommand(bundle: string | undefined): string {
  return bundle === undefined
    ? 'weir conversations'
    : `weir conversations --bundle ${shellWord(bundle)}`
}
