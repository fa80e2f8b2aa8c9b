// The sandbox of a command or module tool, as an agent file or a program sets it.

/**
 * `default`: a read-only system, a private /tmp, the tool's folder read-only, a working folder
 * that is writable unless it holds the agent file, no network, its own processes. A mapping: the same with changes. `off`: no sandbox.
 */
export type SandboxSetting = 'default' | 'off' | SandboxFields

export type SandboxFields = {
  /** Further files and folders that the tool may read. Each must exist. */
  read?: string[]
  /** Further files and folders that it may write. Each must exist. */
  write?: string[]
  /** A list: the hosts that it may reach through Weir's proxy, as `*.example.com:8443`. */
  network?: 'none' | 'all' | string[]
  /** Of all processes of a call together, in bytes or as `512MiB`. */
  memory?: number | string
  /** Processes and threads of one call. */
  processes?: number
  /** CPU time of each process, in seconds. */
  cpuSeconds?: number
}

/** The bounds of a sandbox that sets none. agent.schema.json has the same ones. */
export const sandboxBounds = { memory: '1GiB', processes: 128 }

const units: Record<string, number> = { '': 1, B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 }

/** Bytes of `512MiB` or of a number. Undefined: it is no size of at least 1 MiB. */
export function bytesOfSize(size: number | string): number | undefined {
  const [, digits = '', unit = ''] = /^(\d{1,15})([KMG]iB|B)?$/.exec(String(size)) ?? []
  const bytes = Number(digits) * (units[unit] ?? Number.NaN)
  return Number.isSafeInteger(bytes) && bytes >= 2 ** 20 ? bytes : undefined
}

/** A host of a list: a name, or `*.` and a name, and perhaps a port. */
export type HostPattern = { name: string; isSuffix: boolean; port: number | undefined }

const hostForm =
  /^(?<suffix>\*\.)?(?<name>\[[0-9a-f:.]+\]|[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?)(:(?<port>\d{1,5}))?$/

/** Undefined: it is no host. Names are in lower case; other alphabets need their `xn--` form. */
export function hostPattern(text: string): HostPattern | undefined {
  const { suffix, name, port } = hostForm.exec(text.toLowerCase())?.groups ?? {}
  const isPort = port === undefined || (Number(port) >= 1 && Number(port) <= 65_535)
  if (name === undefined || !isPort || name.includes('..')) return undefined
  return {
    name: name.replace(/^\[|\]$/g, ''),
    isSuffix: suffix !== undefined,
    port: port === undefined ? undefined : Number(port),
  }
}
