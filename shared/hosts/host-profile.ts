// The profile of a host: the facts about an agent program of another maker that Weir needs to guard
// its agents. A profile is data. The code that reads it knows no host by name.

import type { HostRewriting } from './rewriting.ts'

/** A header of a request, or a member of the JSON object in that header. */
export type IdPlace = { header: string; member?: string }

/** The places of an id. The first that has a text counts. */
export type IdPlaces = readonly IdPlace[]

/** `member`: the one with the text. Undefined: the arguments are the text. `as`: in the hook. */
export type HookCallChange = {
  tool: string
  member: string | undefined
  as: { tool: string; member: string }
}

/**
 * `child`: the member of a result that names an agent that goes on. `over`: in the result of one that does
 * not. `reports`: tools whose results have the state of each agent in `status`.
 */
export type AgentStarts = {
  tools: readonly string[]
  child?: string
  over?: { member: string; value: string }
  reports?: readonly string[]
}

export type HostProfile = {
  name: string
  /** Its name for people. */
  title: string
  /** A request is the host's if it has one of these headers, or this name in `user-agent`. */
  requests: { headers: readonly string[]; userAgent: RegExp | undefined }
  /** Where requests name their sender. Without a session the history names the conversation. */
  identity: {
    /** The session that hooks name too. */
    session: IdPlaces
    /** A sub-agent of the session. An id equal to the session's is its main agent. */
    agent: IdPlaces
    turn: IdPlaces
    /** The session whose call began this one. Undefined: the host has sub-agents in one session. */
    parent?: IdPlaces
    /** Whether requests with another first text share the session with the main agent. */
    hasSideRequests: boolean
  }
  /** The tools that start agents. Undefined: none are known. */
  starts?: AgentStarts
  /** Tools whose repeated calls wait for something that runs. */
  pollers: readonly string[]
  /** Texts that it writes in messages of the user. They open no turn. Undefined: it writes none. */
  writesAsUser?: readonly RegExp[]
  /** The calls that its hooks show in another way. */
  hookCalls?: readonly HookCallChange[]
  /** Undefined: its history has the calls as its model sent them. */
  rewriting?: HostRewriting
}
