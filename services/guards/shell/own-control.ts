// Weir on this machine: its program, its routes and its processes. A call may not control them.

import { Denial, shown } from './denial.ts'
import { isPlain } from './field.ts'

/** The routes of a Weir server, also after a proxy's prefix, with which a call could allow itself. */
const ownRoute = /\/(v1\/(approvals|audit|conversations|guest|hooks)|console)\b|[{[]/i
/** A host that is not this machine by its name, with a dot: curl may read `{` and `[` as lists. */
const otherHost = /^(?!(127|0)\.|.*\.localhost$)[\w-]+(\.[\w-]+)+$/

function ownControl(): Denial {
  return new Denial('not-allowed', 'it controls Weir itself', 'Leave that to a person.')
}

export function checkNotServer(address: string): void {
  const [, rest = ''] = /^(?:https?:)?\/*(.*)$/is.exec(address) ?? []
  const [host = ''] = rest.split(/[/?#]/)
  const { hostname, pathname } = URL.parse(`http://${rest.replace(/[\uE000\uE001]/g, '1')}`) ?? {}
  // curl reads `other.com\@localhost` as a user and this machine.
  const isOther = isPlain(host) && !/[\\@]/.test(host) && otherHost.test(hostname ?? '')
  const path = (pathname ?? rest.slice(host.length))
    .replace(/%([2-7]\w)/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/[\\/]+/g, '/') // many proxies merge slashes
  if (!isOther && ownRoute.test(path)) throw ownControl()
}

const weir = /^(.*[/:])?weir(-agents)?(-\d[\w.-]*)?(@.*)?(\.([cm]?[jt]s|git|tgz))?(#.*)?$/

export function checkNotWeir(name: string): void {
  if (weir.test(name)) throw ownControl()
}

/** `%1`, `$!`, or a number from 2: not one that is only known at run time. */
const ownTargets = /^(-l|(-(s )?[A-Z\d]+ )?(%\w*|[2-9]|[1-9]\d{1,6})( (%\w*|[2-9]|[1-9]\d{1,6}))*)$/

/** A command may stop the processes that it started, and not the one that runs it. */
export function checkSignals(base: string, args: readonly string[]): void {
  const line = args.join(' ')
  const isOwn = base === 'kill' ? ownTargets.test(line) : pattern.test(line)
  if (/^p?kill$/.test(base) && !isOwn)
    throw new Denial(
      'not-allowed',
      `${base} ${shown(args.join(' '))} may reach the process that runs it`,
      'Send signals only to processes that you started: keep $! in a variable, or name a job such as %1.',
    )
}

/** A pattern needs a run of letters that no process of Weir has. */
const pattern =
  /^(-\d+ |-[A-Z]+ )?-f (?!.*(weir|\|))(?=.*(?!node\b|bash\b|init\b|bwrap\b|tini\b|systemd\b)\b[\w-]{4,})[\w ./:-]+$/
