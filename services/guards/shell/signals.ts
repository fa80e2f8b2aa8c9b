// Signals: a command may stop the processes that it started, and not the one that runs it.

import { isUnknown, ownProcess } from './field.ts'
import type { Place } from './place.ts'
import { Refusal, shown } from './refusal.ts'

/** Names of the parent's process number, also as a part of a word. */
const parent = /ppid|\/proc\//i

/** Keeps in mind that the command looks for its parent, before or after it sends a signal. */
export function noteParent(texts: readonly string[], { whole }: Place): void {
  whole.parent ||= texts.some((text) => parent.test(text))
  if (whole.parent && whole.signals) throw refusal('it looks up its parent and sends a signal')
}

/** Patterns of Weir's own processes, or of every process. */
const wide = /^[^A-Za-z0-9]*$|weir|^(node|nodejs|bash|sh|dash|bwrap|init|systemd|tini)$/i

/** A number that is only known at run time may be that of any process. */
export function checkSignals(base: string, args: readonly string[], place: Place): void {
  const isSearch = /^(pgrep|pidof)$/.test(base)
  if (!isSearch && !/^(kill|pkill|killall|skill|fuser)$/.test(base)) return
  if (base === 'fuser' && !args.some((arg) => arg.startsWith('-k'))) return
  const targets = args.filter((arg, i) => !isOption(arg, args[i - 1], i === 0))
  const isInverse = base !== 'kill' && args.some((arg) => /^(-[a-z]*v|--inverse)/.test(arg))
  const isOpen = base !== 'kill' && base !== 'fuser' && (isInverse || !targets.some((one) => one))
  if (isOpen && !isSearch) throw refusal(`${base} without a plain pattern may reach any process`)
  if (isSearch) place.whole.parent ||= isOpen || targets.some(isWide)
  else place.whole.signals = true
  noteParent([], place)
  for (const target of isSearch ? [] : targets)
    if (
      base === 'kill'
        ? !(/^%/.test(target) || target === ownProcess || isNumber(target))
        : isWide(target)
    )
      throw refusal(`${base} ${shown(target)} may reach the process that runs it`)
}

/** A process number as it is written out: not 0 or 1, which stand for many processes. */
function isNumber(target: string): boolean {
  return /^[1-9]\d*$/.test(target) && Number(target) > 1 && Number(target) < Number(ownProcess)
}

/** `-9`, `-TERM`, `-s TERM`: only the first number with a dash is a signal. */
function isOption(arg: string, before: string | undefined, isFirst: boolean): boolean {
  if (before !== undefined && /^-[snutUGgP]$/.test(before)) return true
  return arg === '--' || /^-[A-Za-z-]/.test(arg) || (isFirst && /^-\d+$/.test(arg))
}

/** A pattern needs a run of letters that no process of Weir has, and no alternative. */
function isWide(target: string): boolean {
  const runs = target.match(/[A-Za-z0-9_-]{4,}/g) ?? []
  return (
    wide.test(target) ||
    isUnknown(target) ||
    target.includes('|') ||
    runs.every((run) => wide.test(run))
  )
}

function refusal(what: string): Refusal {
  return new Refusal(
    'not-allowed',
    what,
    'Send signals only to processes that you started: keep $! in a variable, or name a job such as %1.',
  )
}
