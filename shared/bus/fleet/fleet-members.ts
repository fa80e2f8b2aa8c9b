// The live members of a fleet, as the groups of its stages and guards know them.

/**
 * `process`: `host/pid`, or the id of the member for a Weir that announces nothing. `format`: the newest
 * one that the process reads, and 1 for a Weir that announces nothing. `weir`: its version, if it
 * announces one. `agents`: the hash of its agent files, if it has any.
 */
export type FleetMember = {
  group: string
  host: string
  process: string
  weir: string | undefined
  format: number
  agents: string | undefined
}
