// Numbers and times as texts for pages and lists.

/** `716,900`. Not toLocaleString, whose data load for 20 ms in each process that prints a number. */
export function number(value: number): string {
  const [whole = '', ...fraction] = `${Number(value.toFixed(3))}`.split('.')
  return [whole.replace(/\B(?=(\d{3})+$)/g, ','), ...fraction].join('.')
}

/** `1 turn`, `2,000 turns`, `3 entries`, `4 processes`. */
export function count(value: number, noun: string): string {
  return `${number(value)} ${value === 1 ? noun : pluralOf(noun)}`
}

function pluralOf(noun: string): string {
  if (/[^aeiou]y$/.test(noun)) return `${noun.slice(0, -1)}ies`
  return /(s|x|z|ch|sh)$/.test(noun) ? `${noun}es` : `${noun}s`
}

/** `2026-07-29 10:12:03.123 UTC` */
export function instant(at: number): string {
  return `${new Date(at).toISOString().replace('T', ' ').replace('Z', '')} UTC`
}

/** `2026-07-29 10:12:03 UTC` */
export function second(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

/** `0.3 s`, `12 s`, `3 min 5 s`, `2 h 5 min`, `3 d`. */
export function durationText(ms: number): string {
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return inTwo([minutes, 'min'], [seconds % 60, 's'])
  const hours = Math.floor(minutes / 60)
  if (hours < 24) return inTwo([hours, 'h'], [minutes % 60, 'min'])
  return inTwo([Math.floor(hours / 24), 'd'], [hours % 24, 'h'])
}

type Amount = [value: number, unit: string]

/** Without a second part that is 0. */
function inTwo([large, unit]: Amount, [small, smaller]: Amount): string {
  return small === 0 ? `${large} ${unit}` : `${large} ${unit} ${small} ${smaller}`
}

/** As durationText, in whole seconds: for a clock that runs. */
export function wholeDuration(ms: number): string {
  return durationText(Math.max(0, Math.floor(ms / 1000)) * 1000).replace('.0 s', ' s')
}

/** `3 ms`, `1.2 s`, `3 min 5 s`. */
export function elapsed(ms: number): string {
  return ms < 1000 ? `${ms} ms` : durationText(ms)
}

/** `512 bytes`, `3.4 MiB`, `1.2 GiB`. */
export function bytesText(bytes: number): string {
  const MiB = 1024 * 1024
  if (bytes < MiB / 10) return count(Math.round(bytes), 'byte')
  return bytes >= 1024 * MiB
    ? `${(bytes / 1024 / MiB).toFixed(1)} GiB`
    : `${(bytes / MiB).toFixed(1)} MiB`
}
