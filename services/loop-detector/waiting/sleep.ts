// Whether a command sleeps before a look. A sleep next to a command that runs or changes something is
// no wait, because the agent repeats that command.

/** In any language: `sleep 5`, `time.sleep(5)`, `Start-Sleep -Seconds 5`. */
const sleep = /\bsleep(?: ?\(|\s+(?:-[a-z]+\s+)?["']?(?=[\d.$])([\d.]{0,12}))/i

/** A command or a program that sleeps for a second or more. */
export function isPause(command: string): boolean {
  const found = sleep.exec(command)
  return found !== null && (found[1] === undefined || sleepsFor(found[1]))
}

const sleepWithTime = /\bsleep(?: ?\(|\s+)["']?(\d{0,9}\.?\d{0,9})([mhd]?)/gi

/** Whether the sleeps of a command last less than five seconds together. A loop may last longer. */
export function isBrief(command: string): boolean {
  if (/\b(?:for|while|until)\b/.test(command)) return false
  const sleeps = [...command.matchAll(sleepWithTime)]
  if (sleeps.some(([, time = '', unit]) => time === '' || unit !== '')) return false
  const seconds = sleeps.reduce((sum, [, time]) => sum + Number.parseFloat(time ?? ''), 0)
  return sleeps.length > 0 && seconds < 5
}

/** Of a sleep with this argument: below a second it is no wait. */
export function sleepsFor(duration = ''): boolean {
  return !(Number.parseFloat(duration) < 1)
}

/** Whether a program of unknown effect only looks at something that runs. */
export function isLook(program: string, argv: string[]): boolean {
  if (lookPrograms.has(program) || sleep.test([program, ...argv].join(' '))) return true
  if (/^python[\d.]*$/.test(program)) return /^-c ["']import time\b/.test(argv.join(' '))
  if (clients.has(program)) return !argv.some((word) => sends.test(word))
  // `gh run view`, `aws rds describe-db-instances`, `./status.sh`: the first known verb decides.
  const parts = [program, ...argv.filter((word) => !word.startsWith('-')).slice(0, 3)]
  const verbs = parts.flatMap((word) => word.toLowerCase().split(/[^a-z]+/))
  const verb = verbs.find((word) => lookVerbs.has(word) || actionVerbs.has(word))
  return verb !== undefined && lookVerbs.has(verb)
}

const words = (list: string): ReadonlySet<string> => new Set(list.split(' '))

const lookPrograms = words('jobs pgrep squeue sacct qstat journalctl watch last nc')
const clients = words('curl wget http https')
const sends =
  /^(?:-[a-zA-Z]*[dFT]|--(?:data|form|upload|json|post).*|["']?(?:POST|PUT|PATCH|DELETE)["']?|-X(?:POST|PUT|PATCH|DELETE))$/
const lookVerbs = words(
  'status state progress health list ls get describe show view logs log checks ps inspect info poll',
)
const actionVerbs = words(
  'add apply build checkout cherry commit create delete deploy exec install kill merge patch pull push rebase remove rerun reset restart ' +
    'rm scale start stash stop test up down update upload',
)
