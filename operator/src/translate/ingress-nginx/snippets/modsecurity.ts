/** Rules of ModSecurity, which are only checked for whether they block. */

/** Whether rules block requests: `SecRuleEngine On` outside of comments. Without it, the engine only detects. */
export const blocksRequests = (rules: string): boolean => /^[ \t]*SecRuleEngine[ \t]+"?On\b/im.test(rules);
