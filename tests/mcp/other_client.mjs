// A client of the Model Context Protocol by others, which holds each answer against the schema of its tool.
// usage: node other_client.mjs CALLS COMMAND ARGUMENT...
// CALLS is a file with a JSON list of [tool, arguments]; prints {tools, prompt, answers, memory}, memory in KiB by number of calls.
import { readFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [file, command, ...args] = process.argv.slice(2);
const calls = JSON.parse(readFileSync(file, "utf8"));
const transport = new StdioClientTransport({ command, args, stderr: "inherit" });
const client = new Client({ name: "other", version: "1.0.0" });
await client.connect(transport);
const tools = (await client.listTools()).tools.map((tool) => tool.name);
const prompt = await client.getPrompt({ name: "why_cannot_connect", arguments: { file: "compose.yml" } });
const answers = [];
const memory = {};
for (const [name, given] of calls) {
  const answer = await client.callTool({ name, arguments: given }, undefined, { timeout: 120000 });
  answers.push({ name, failed: answer.isError === true, found: answer.structuredContent, text: answer.content });
  if (answers.length % 100 === 0) {
    const status = readFileSync(`/proc/${transport.pid}/status`, "utf8");
    memory[answers.length] = Number(/VmRSS:\s+(\d+) kB/.exec(status)[1]);
  }
}
await client.close();
console.log(JSON.stringify({ tools, prompt, answers, memory }));
