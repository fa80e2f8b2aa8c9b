// The command that lists conversations, for whoever named one that is not there.

import { shellWord } from '../../terminal/own-command.ts'

/** As somebody would write it who reads `bundle`; undefined: a log. */
export function listingCommand(bundle: string | undefined): string {
  return bundle === undefined
    ? 'weir conversations'
    : `weir conversations --bundle ${shellWord(bundle)}`
}
