import { commands, ExtensionContext, window, workspace } from "vscode";
import { LanguageClient, LanguageClientOptions, ServerOptions } from "vscode-languageclient/node";

const LANGUAGES = [
  "yaml",
  "dockercompose",
  "github-actions-workflow",
  "dockerfile",
  "properties",
  "java-properties",
  "dotenv",
  "env",
  "shellscript",
  "makefile",
  "markdown",
  "toml",
];

let client: LanguageClient | undefined;

export async function activate(context: ExtensionContext): Promise<void> {
  context.subscriptions.push(
    commands.registerCommand("netdiag.restart", restart),
    workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration("netdiag")) {
        await restart();
      }
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

async function restart(): Promise<void> {
  const old = client;
  client = undefined;
  await old?.stop().catch(() => undefined);
  await start();
}

async function start(): Promise<void> {
  const settings = workspace.getConfiguration("netdiag");
  const server: ServerOptions = { command: settings.get("path", "netdiag"), args: ["lsp"] };
  const options: LanguageClientOptions = {
    documentSelector: LANGUAGES.map((language) => ({ scheme: "file", language })),
    initializationOptions: { rulePages: settings.get("rulePages", "") },
  };
  client = new LanguageClient("netdiag", "netdiag", server, options);
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    void window.showErrorMessage(
      `netdiag did not start: ${String(error)}. Install it with its extra lsp, or set netdiag.path.`,
    );
  }
}
