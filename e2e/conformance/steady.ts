export const steadyTests: readonly string[] = [];
