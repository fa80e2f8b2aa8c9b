// A program to run in a sandbox, and all that it may reach. The types of this folder: `confined`
// (launch.ts) turns a confinement into the argv that starts it.

export type Confinement = {
  /** The program and its arguments. */
  argv: readonly [string, ...string[]]
  /** The working folder, writable unless it holds an agent file. Absolute. Undefined: the empty root. */
  cwd: string | undefined
  /** Further files and folders that it may read or write. Absolute. Each must exist. */
  read: readonly string[]
  write: readonly string[]
  /** Files of the program. Visible, and read-only also in a writable folder. Absolute. */
  programFiles: readonly string[]
  /** Folders of the program. Visible and read-only, unless one is the working folder. Absolute. */
  programFolders: readonly string[]
  /**
   * `none`: not even this machine. A socket: the Unix socket of a proxy outside, at
   * `proxySocketInside`. `all`: the network of this machine.
   */
  network: 'none' | 'all' | { proxySocket: string }
  /** Of the memory of each process, with some more for reserves, and of each scratch folder. */
  memoryBytes: number
  /** Processes and threads together. */
  processes: number
  /** Of each process. Undefined: no bound. */
  cpuSeconds: number | undefined
  /** The descriptor that gets bubblewrap's status lines. Default: none. */
  statusFd?: number
}

/** The place of the proxy's socket in a sandbox. */
export const proxySocketInside = '/run/weir-proxy.sock'

/** One mount of a sandbox. */
export type Mount =
  | { kind: 'read'; path: string; source: string }
  | { kind: 'write'; path: string }
  | { kind: 'hidden-folder' | 'hidden-file'; path: string }
  | { kind: 'link'; path: string; target: string }
