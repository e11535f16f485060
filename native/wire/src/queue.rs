//! A queue that has no more than one item nearly always: that one lies in place, and only others take memory elsewhere.

use std::collections::VecDeque;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Clone, Debug)]
pub(crate) struct Queue<T> {
    first: Option<T>,
    /// None where nothing was ever behind the first one; without a first one it is empty.
    #[expect(clippy::box_collection, reason = "few queues have it, and it is four words")]
    rest: Option<Box<VecDeque<T>>>,
}

impl<T> Default for Queue<T> {
    fn default() -> Queue<T> {
        Queue {
            first: None,
            rest: None,
        }
    }
}

impl<T> Queue<T> {
    pub fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.rest.as_ref().map_or(0, |rest| rest.len())
    }

    #[inline]
    pub fn front(&self) -> Option<&T> {
        self.first.as_ref()
    }

    #[inline]
    pub fn push_back(&mut self, item: T) {
        if self.first.is_none() {
            self.first = Some(item);
        } else {
            self.rest.get_or_insert_default().push_back(item);
        }
    }

    #[inline]
    pub fn pop_front(&mut self) -> Option<T> {
        let next = self.rest.as_mut().and_then(|rest| rest.pop_front());
        std::mem::replace(&mut self.first, next)
    }

    /// Which item has this key, where the keys rise.
    #[inline]
    pub fn position_of<K: Ord>(&self, key: K, key_of: impl Fn(&T) -> K) -> Option<usize> {
        if key_of(self.first.as_ref()?) == key {
            return Some(0);
        }
        let behind = self.rest.as_ref()?.binary_search_by_key(&key, key_of);
        behind.ok().map(|at| at + 1)
    }

    /// From the first on.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.first.iter().chain(self.rest.iter().flat_map(|rest| rest.iter()))
    }
}

impl<T> FromIterator<T> for Queue<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Queue<T> {
        let mut queue = Queue::default();
        items.into_iter().for_each(|item| queue.push_back(item));
        queue
    }
}

impl<T: Serialize> Serialize for Queue<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let items: Vec<&T> = self.iter().collect();
        items.serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Queue<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Queue<T>, D::Error> {
        Ok(Vec::<T>::deserialize(deserializer)?.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_comes_first_goes_first(steps in proptest::collection::vec(any::<bool>(), 0..60)) {
            let (mut queue, mut expected) = (Queue::default(), VecDeque::new());
            for (number, push) in steps.into_iter().enumerate() {
                if push {
                    queue.push_back(number);
                    expected.push_back(number);
                } else {
                    prop_assert_eq!(queue.pop_front(), expected.pop_front());
                }
                prop_assert_eq!((queue.front(), queue.len()), (expected.front(), expected.len()));
                prop_assert!(queue.iter().eq(&expected));
                prop_assert_eq!(queue.position_of(number / 2, |it| *it), expected.iter().position(|it| *it == number / 2));
            }
            let stored = postcard::to_stdvec(&queue).unwrap();
            let again: Queue<usize> = postcard::from_bytes(&stored).unwrap();
            prop_assert!(again.iter().eq(&expected));
        }
    }
}
