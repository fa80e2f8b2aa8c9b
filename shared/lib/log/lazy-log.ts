// A child logger that is made with its first line. Most attempts write none at the usual level, and
// a logger that hides secrets searches the bindings of each child for them.

import type { Logger } from 'pino'

type Line = (fields: object, text: string) => void

/** The log of one piece of work. A logger fits. */
export type WorkLog = { debug: Line; info: Line; warn: Line; error: Line }

export function lazyChild(log: Logger, bindings: object): WorkLog {
  let child: Logger | undefined
  const lineAt =
    (level: keyof WorkLog): Line =>
    (fields, text) => {
      if (!log.isLevelEnabled(level)) return
      child ??= log.child(bindings)
      child[level](fields, text)
    }
  return {
    debug: lineAt('debug'),
    info: lineAt('info'),
    warn: lineAt('warn'),
    error: lineAt('error'),
  }
}
