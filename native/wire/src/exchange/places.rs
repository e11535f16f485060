//! Names for the addresses in a capture, where somebody knows them.

use foldhash::HashMap;

/// `hosts`: name by address. `ports`: name and listener by address:port, which says more.
#[derive(Clone, Debug, Default)]
pub struct Places {
    pub hosts: HashMap<String, String>,
    pub ports: HashMap<String, (String, Option<String>)>,
}

/// What both ends of a connection are called; None where nobody knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Named<'a> {
    pub client: Option<&'a str>,
    pub broker: Option<&'a str>,
    pub listener: Option<&'a str>,
}

impl Places {
    /// The names of two ends, each address:port as the tables write it.
    pub fn name(&self, client: &str, broker: &str) -> Named<'_> {
        if self.hosts.is_empty() && self.ports.is_empty() {
            return Named::default();
        }
        let host = |end| self.hosts.get(host_of(end)).map(String::as_str);
        let (broker, listener) = match self.ports.get(broker) {
            Some((name, listener)) => (Some(name.as_str()), listener.as_deref()),
            None => (host(broker), None),
        };
        Named {
            client: host(client),
            broker,
            listener,
        }
    }
}

/// The address of address:port.
pub fn host_of(end: &str) -> &str {
    let host = end.rsplit_once(':').map_or("", |(host, _)| host);
    host.trim_matches(['[', ']'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_have_names() {
        let places = Places {
            hosts: [("10.0.0.7", "app"), ("fd00::2", "kafka")]
                .map(|(host, name)| (host.into(), name.into()))
                .into_iter()
                .collect(),
            ports: [("10.0.0.2:9092".into(), ("broker".into(), Some("EXTERNAL".into())))]
                .into_iter()
                .collect(),
        };
        let named = places.name("10.0.0.7:40000", "10.0.0.2:9092");
        assert_eq!(
            (named.client, named.broker, named.listener),
            (Some("app"), Some("broker"), Some("EXTERNAL"))
        );
        let named = places.name("10.0.0.8:40000", "[fd00::2]:9092");
        assert_eq!(
            (named.client, named.broker, named.listener),
            (None, Some("kafka"), None)
        );
        assert_eq!(Places::default().name("10.0.0.7:1", "10.0.0.2:9092"), Named::default());
    }
}
