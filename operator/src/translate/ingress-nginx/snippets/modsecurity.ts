/** Rules of ModSecurity, of which only one question is asked. */

/** Whether rules block requests: `SecRuleEngine On` outside of comments. Without it, the engine only detects. */
export const blocksRequests = (rules: string): boolean => /^[ \t]*SecRuleEngine[ \t]+"?On\b/im.test(rules);
