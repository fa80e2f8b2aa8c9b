// The path of the console, at any place.

export const consolePath = '/console'
