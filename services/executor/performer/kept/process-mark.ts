// Recognises a process of this machine again: by its number and the time of its start, because a
// number returns. After a reboot both can return; then a wait lasts until its deadline.

import { readFileSync } from 'node:fs'

/** `startedAt`: in the system's ticks. Empty where the system has no /proc. */
export type ProcessMark = { pid: number; startedAt: string }

export function processMark(pid: number): ProcessMark {
  return { pid, startedAt: statOf(pid)?.startedAt ?? '' }
}

/** False also for a process that ended and was not reaped. */
export function isRunning({ pid, startedAt }: ProcessMark): boolean {
  const stat = statOf(pid)
  if (stat !== undefined) return stat.startedAt === startedAt && stat.state !== 'Z'
  if (startedAt !== '') return false
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

function statOf(pid: number): { state: string; startedAt: string } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name of the program stands in parentheses and may hold any character.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const [state = ''] = fields
    return { state, startedAt: fields[startField] ?? '' }
  } catch {
    return undefined
  }
}

/** Field 22 of proc_pid_stat(5), counted after the name, which is field 2. */
const startField = 19
