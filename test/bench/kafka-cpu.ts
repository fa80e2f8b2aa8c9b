// The CPU time of processes, and the load of all other programs meanwhile. The system reports other
// processes in hundredths of a second, so a measurement should last seconds.

import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'

/**
 * `cpuSeconds`: of the given processes, in their order. `othersShare`: the share of all CPUs that
 * neither they nor this process used. 0 is an idle machine.
 */
export type Reading = {
  seconds: number
  ownCpuSeconds: number
  cpuSeconds: number[]
  othersShare: number
}

/** Linux reports /proc/PID/stat in this unit on every machine, independent of the kernel's tick. */
const ticksPerSecond = 100

/**
 * Starts to count. The returned function reports the use since then. Throws without /proc or if a
 * process has exited.
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

/** Of all its threads, without its children. */
function cpuSecondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // the name before it may have blanks
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

function busySeconds(): number {
  return sum(cpus().map(({ times: { user, nice, sys, irq } }) => (user + nice + sys + irq) / 1e3))
}
