// What processes cost in CPU time, and how busy everybody else kept the machine meanwhile. Of other
// processes the system tells hundredths of a second, so a measurement should take seconds.

import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'

/**
 * `cpuSeconds`: of the given processes, in their order. `othersShare`: of all CPUs, what neither
 * they nor this process used: 0 is an idle machine.
 */
export type Reading = {
  seconds: number
  ownCpuSeconds: number
  cpuSeconds: number[]
  othersShare: number
}

/** Linux gives /proc/PID/stat in this unit on every machine, whatever its kernel ticks in. */
const ticksPerSecond = 100

/**
 * Begins to count; the returned function tells what was used since. Throws where the system does
 * not tell (no /proc) or a process is gone.
 */
export function startMeter(pids: number[]): () => Reading {
  const began = performance.now()
  const own = process.cpuUsage()
  const busy = busySeconds()
  const before = pids.map(cpuSecondsOf)
  return () => {
    const seconds = (performance.now() - began) / 1e3
    const { user, system } = process.cpuUsage(own)
    const ownCpuSeconds = (user + system) / 1e6
    const cpuSeconds = pids.map((pid, i) => cpuSecondsOf(pid) - (before[i] ?? 0))
    const ours = ownCpuSeconds + sum(cpuSeconds)
    return {
      seconds,
      ownCpuSeconds,
      cpuSeconds,
      othersShare: Math.max(0, (busySeconds() - busy - ours) / (seconds * cpus().length)),
    }
  }
}

export function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

/** Of all its threads; of its children nothing. */
function cpuSecondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ') // the name before it may have blanks
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

function busySeconds(): number {
  return sum(cpus().map(({ times: { user, nice, sys, irq } }) => (user + nice + sys + irq) / 1e3))
}
