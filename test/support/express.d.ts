// The part of Express that the examples use. Its types are a package that is not installed.

declare module 'express' {
  import type { IncomingMessage, Server, ServerResponse } from 'node:http'

  type Handler = (request: IncomingMessage, response: ServerResponse) => void
  export default function express(): {
    use(path: string, handler: Handler): void
    listen(port: number, host: string): Server
  }
}
