// find: the files that it removes or writes, and the commands that it runs on them.

import { both, inFolders, type Outcome } from './environment.ts'
import { anyName } from './field.ts'
import { checkWrite, type Place } from './place.ts'
import { Refusal } from './refusal.ts'

const runs = new Set(['-exec', '-execdir', '-ok', '-okdir'])
const writes = new Set(['-fprint', '-fprint0', '-fls', '-fprintf'])

export function judgeFind(
  args: readonly string[],
  place: Place,
  judge: (fields: readonly string[], place: Place) => Outcome,
): Outcome {
  const first = args.findIndex(
    (arg) => (arg.startsWith('-') && !/^-([HLP]|O\d*|D)$/.test(arg)) || arg === '(' || arg === '!',
  )
  const head = first < 0 ? args : args.slice(0, first)
  const starts = head.filter((arg, i) => !arg.startsWith('-') && head[i - 1] !== '-D')
  const paths = starts.length === 0 ? ['.'] : starts
  for (let i = Math.max(first, 0); i < args.length; i++) {
    const arg = args[i] as string
    if (arg === '-files0-from')
      throw new Refusal(
        'unknowable',
        'where find begins is only known when it runs',
        'Name the folders that it begins in.',
      )
    if (arg === '-delete') for (const path of paths) checkWrite(path, 'find -delete', place)
    if (writes.has(arg)) checkWrite(args[i + 1] ?? '', `find ${arg}`, place)
    if (runs.has(arg)) {
      const end = args.findIndex(
        (candidate, j) =>
          j > i && (candidate === ';' || (candidate === '+' && args[j - 1] === '{}')),
      )
      const command = args.slice(i + 1, end < 0 ? args.length : end)
      for (const path of paths) runOn(path, command, arg.endsWith('dir'), place, judge)
      i = end < 0 ? args.length : end
    }
  }
  return both(place.environment)
}

/** `{}` is a file below the path. -execdir runs in that file's folder. */
function runOn(
  path: string,
  command: string[],
  inItsFolder: boolean,
  place: Place,
  judge: (fields: readonly string[], place: Place) => Outcome,
): void {
  const found = `${path.endsWith('/') ? path.slice(0, -1) : path}/${anyName}`
  const environment = inItsFolder ? inFolders(place.environment, undefined) : place.environment
  const folder =
    inItsFolder && !found.startsWith('/')
      ? place.environment.cwds?.length === 1 && `${place.environment.cwds[0]}/`
      : ''
  if (folder === false || folder === undefined)
    throw new Refusal(
      'unknowable',
      'the folder that find begins in is not known',
      'Name it by an absolute path.',
    )
  judge(
    command.map((field) => field.replaceAll('{}', folder + found)),
    { ...place, environment, leaps: [] },
  )
}
