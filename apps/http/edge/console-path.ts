// The path of the console on the edge. The login has cookies with this path.

export const consolePath = '/console'
